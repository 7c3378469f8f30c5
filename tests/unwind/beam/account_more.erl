%% SPDX-License-Identifier: Apache-2.0
%% account_more.erl - a module that account.erl loads again and again. MORE has other functions before the same one, which comes
%% from another file.
-module(account_more).
-export([run/1]).

-ifdef(MORE).
-export([unused/1]).
unused(X) ->
    {X, X}.
-endif.

-file("sources/renamed.erl", 100).
run(F) ->
    Result = F(),
    hd([Result]).
