%% SPDX-License-Identifier: Apache-2.0
%% frames.erl - calls statistics() 300 times, each third time below wanted/0. Waits for a line on standard input before.
-module(frames).
-export([main/1]).

main([Calls]) ->
    io:format("ready~n"),
    Waits = fun() -> io:get_line("") end,
    _ = {Waits(), ok},
    call(list_to_integer(Calls)),
    halt(0).

call(0) -> ok;
call(N) when N rem 3 =:= 0 ->
    {_, _} = wanted(),
    call(N - 1);
call(N) ->
    {_, _} = other(),
    call(N - 1).

wanted() ->
    T = deep(20),
    {T, T}.

other() ->
    T = deep(10),
    {T, T}.

deep(0) ->
    {T, _} = erlang:statistics(runtime),
    T;
deep(N) ->
    deep(N - 1) + 1.
