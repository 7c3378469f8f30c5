%% SPDX-License-Identifier: Apache-2.0
%% beampid.erl - two Erlang processes in each round, with identifiers of all sizes: each prints its identifier, calls
%% statistics(), and deletes a file of that name, which a thread for such calls does. Waits for a line on standard input before.
-module(beampid).
-export([main/1]).

%% The numbers after which processes are counted on, by the round.
-define(NEXT, {100, 32760, 268435450, 268435456 * 5 + 7, 1 bsl 40, (1 bsl 60) - 5}).

main([Rounds]) ->
    logger:set_primary_config(level, none),
    erts_debug:set_internal_state(available_internal_state, true),
    io:format("~s ~p~n", [erlang:system_info(otp_release), self()]),
    _ = io:get_line(""),
    each(list_to_integer(Rounds)),
    halt(0).

each(0) -> ok;
each(N) when N rem 10 =:= 0 ->
    _ = erts_debug:set_internal_state(next_pid, element(N div 10 rem tuple_size(?NEXT) + 1, ?NEXT)),
    round_of(N);
each(N) ->
    round_of(N).

round_of(N) ->
    _ = call(),
    {Pid, Monitor} = spawn_monitor(fun() -> {call(), N} end),
    receive
        {'DOWN', Monitor, process, Pid, normal} -> ok
    end,
    each(N - 1).

call() ->
    io:format("~p~n", [self()]),
    {erlang:statistics(runtime), prim_file:delete("/nonexistent/" ++ pid_to_list(self()))}.
