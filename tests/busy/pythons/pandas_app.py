# SPDX-License-Identifier: Apache-2.0
"""Functions that numpy and pandas call."""
import numpy
import pandas


def spread(row):
    return numpy.sqrt(((row - row.mean()) ** 2).sum())


def middle(group):
    return group['x'].sort_values().iloc[len(group) // 2]


collatz = numpy.vectorize(lambda n: next(k for k in range(99) if n + k > 50))
frame = pandas.DataFrame({'k': numpy.arange(400) % 7, 'x': numpy.random.rand(400)})
while True:
    numpy.apply_along_axis(spread, 1, numpy.random.rand(60, 30))
    frame.groupby('k')[['x']].apply(middle)
    frame['x'].map(lambda x: round(x, 3)).rolling(5).apply(lambda w: w.max() - w.min())
    collatz(numpy.arange(100))
    frame.to_json()
