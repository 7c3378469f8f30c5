# SPDX-License-Identifier: Apache-2.0
# A web application, for gunicorn.
import json
import re

import flask

app = flask.Flask(__name__)


def words(text):
    return sorted(re.findall(r'[a-z]+', text), key=lambda word: (len(word), word))


@app.route('/')
def page():
    text = json.dumps({str(i): 'a line of text ' * 3 for i in range(200)})
    return flask.jsonify(words=words(text)[:20], length=len(text))
