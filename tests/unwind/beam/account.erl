%% SPDX-License-Identifier: Apache-2.0
%% account.erl - makes random stacks. At the end of each it reads the time that the runtime has used, which calls
%% getrusage(), and keeps Erlang's own account of the stack. main([Calls, Directory]) prints the version, then after a line
%% on standard input all accounts, a line each: frames with TAB between them. The directory has two versions of the module
%% account_more: more-1 and more-2, which are loaded in turn.
-module(account).
-compile(nowarn_deprecated_catch).
-export([main/1, 'odd name'/3]).

main([Calls, Directory]) ->
    erlang:system_flag(backtrace_depth, 4096),
    rand:seed(exsss, 1),
    ets:new(accounts, [ordered_set, public, named_table]),
    load(Directory, 1),
    io:format("OTP ~s~n", [erlang:system_info(otp_release)]),
    io:get_line(""),
    run(list_to_integer(Calls), Directory),
    ets:foldl(fun({_, Stack}, _) -> io:put_chars([lists:join("\t", [frame(F) || F <- Stack]), "\n"]) end, ok, accounts),
    halt(0).

frame({erlang, process_info, 2, _}) -> "";
frame({M, F, A, Where}) ->
    [io_lib:format("~w:~w/~w", [M, F, A]) |
     [io_lib:format(" ~ts:~w", [File, Line]) || {file, File} <- Where, {line, Line} <- Where]].

load(Directory, N) ->
    code:purge(account_more),
    {module, _} = code:load_abs(Directory ++ "/more-" ++ integer_to_list(N rem 2 + 1) ++ "/account_more").

run(0, _) -> ok;
run(N, Directory) ->
    _ = [load(Directory, N div 50) || N rem 50 =:= 0],
    ok = step(rand:uniform(20)),
    run(N - 1, Directory).

note() ->
    {_, Stack} = process_info(self(), current_stacktrace), ets:insert(accounts, {erlang:unique_integer([monotonic]), Stack}), _ = erlang:statistics(runtime),
    ok.

step(0) -> note();
step(D) -> kind(rand:uniform(13), D - 1).

kind(1, D) ->
    Result = step(D),
    hd([Result]);
kind(2, D) ->
    hd(lists:map(fun(_) -> step(D) end, [D]));
kind(3, D) ->
    lists:foldl(fun(_, _) -> step(D) end, none, [D]);
kind(4, D) ->
    try step(D)
    after
        D + 1
    end;
kind(5, D) ->
    {'EXIT', _} = (catch begin ok = step(D), error(D) end),
    ok;
kind(6, D) ->
    apply(?MODULE, 'odd name', [D, a, b]);
kind(7, D) ->
    {_, Monitor} = spawn_monitor(fun() -> ok = step(D) end),
    receive {'DOWN', Monitor, _, _, normal} -> ok end;
kind(8, D) ->
    [1, 2] = lists:sort(fun(A, B) -> ok = step(D), A =< B end, [2, 1]),
    ok;
kind(9, D) ->
    <<1>> = << <<(case step(D) of ok -> X end)>> || X <- [1] >>,
    ok;
kind(10, D) ->
    true = is_integer(deep(rand:uniform(100), D)),
    ok;
kind(11, D) ->
    step(D); % a tail call
kind(12, D) ->
    maps:fold(fun(_, _, _) -> step(D) end, none, #{D => D});
kind(13, D) ->
    account_more:run(fun() -> step(D) end).

'odd name'(D, a, b) ->
    [ok] = [step(D)],
    ok.

deep(0, D) ->
    ok = step(D),
    0;
deep(N, D) ->
    1 + deep(N - 1, D).
