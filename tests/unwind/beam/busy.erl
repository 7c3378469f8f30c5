%% SPDX-License-Identifier: Apache-2.0
%% busy.erl - uses the processor in Erlang's code, in native functions, in regular expressions, in the garbage collector and
%% in other processes. busy.py knows which function calls which. main/1 prints a line and never ends.
-module(busy).
-export([main/1]).

main([_]) ->
    _ = text(0), % loads the modules that it calls
    io:format("ready~n"),
    spawn(fun() -> other(0) end),
    work(0).

work(N) ->
    _ = sorted(N),
    _ = matched(N),
    _ = big(N),
    _ = compared(N),
    _ = mapped(N),
    _ = garbage(N),
    _ = bytes(N),
    _ = caught(N),
    _ = recurse(N rem 200 + 1),
    _ = asked(N),
    _ = swept(N),
    work(N + 1).

other(N) ->
    _ = text(N),
    receive
        {From, Value} -> From ! {self(), leaf(Value)}
    after 0 -> ok
    end,
    other(N + 1).

leaf(N) -> spin(N, 40).

spin(N, 0) -> N;
spin(N, K) -> spin((N * 31 + K) band 16#ffffff, K - 1).

sorted(N) ->
    _ = lists:sort(fun by/2, [(X * N) rem 17 || X <- lists:seq(1, 20)]),
    ok.
by(A, B) ->
    _ = leaf(A),
    A =< B.

matched(N) ->
    {match, _} = re:run(lists:duplicate(300, $a) ++ integer_to_list(N), "(a+a+)+[0-9]+$"),
    ok.

big(N) ->
    P = power(3, 150 + N rem 10),
    _ = P rem (power(7, 20) + N),
    ok.
power(_, 0) -> 1;
power(B, E) -> B * power(B, E - 1).

compared(N) ->
    A = lists:seq(1, 400) ++ [N],
    B = lists:seq(1, 400) ++ [N],
    true = A =:= B,
    true = {A, B} =< {B, A},
    ok.

mapped(N) ->
    M = lists:foldl(fun(X, A) -> A#{X => leaf(X)} end, #{}, lists:seq(1, 40)),
    _ = maps:map(fun(_, V) -> leaf(V + N) end, M),
    ok.

garbage(N) ->
    _ = length([{X, [X, N], integer_to_list(X)} || X <- lists:seq(1, 500)]),
    erlang:garbage_collect(),
    ok.

bytes(N) ->
    B = << <<(leaf(X)):32>> || X <- lists:seq(1, 50) >>,
    _ = sum(B, N),
    _ = erlang:md5(B),
    ok.
sum(<<X:32, Rest/binary>>, A) -> sum(Rest, A + X);
sum(<<>>, A) -> A.

caught(N) ->
    try fails(N)
    catch
        error:_ -> ok
    end.
fails(N) ->
    _ = leaf(N),
    error({failed, N}).

recurse(0) -> leaf(1);
recurse(N) -> recurse(N - 1) + 1.

asked(N) ->
    _ = erlang:phash2({N, [N, N]}),
    _ = binary_to_term(term_to_binary(lists:seq(1, 100))),
    ok.

swept(N) ->
    T = ets:new(table, [ordered_set]),
    _ = [ets:insert(T, {X * N, leaf(X)}) || X <- lists:seq(1, 30)],
    _ = ets:foldl(fun({_, V}, A) -> leaf(V) + A end, 0, T),
    ets:delete(T),
    ok.

text(N) ->
    _ = lists:flatten(io_lib:format("~p ~s ~w", [{N, a}, "text", [N]])),
    ok.
