%% SPDX-License-Identifier: Apache-2.0
-module(replaced).
-export([main/1]).

main([N]) ->
    io:get_line(""),
    [one(I) || I <- lists:seq(0, list_to_integer(N) - 1)],
    halt().

one(I) ->
    Name = lists:flatten(io_lib:format("f~6..0b", [I])),
    Text = ["-module(one).", "-export([" ++ Name ++ "/2]).",
            Name ++ "(0, S) -> S; " ++ Name ++ "(K, S) -> " ++ Name ++ "(K - 1, S + K rem 7)."],
    Forms = [begin {ok, T, _} = erl_scan:string(F), {ok, P} = erl_parse:parse_form(T), P end || F <- Text],
    {ok, one, Code} = compile:forms(Forms),
    {module, one} = code:load_binary(one, Name ++ ".erl", Code),
    one:(list_to_atom(Name))(200000, 0),
    code:purge(one).
