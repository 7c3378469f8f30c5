# SPDX-License-Identifier: Apache-2.0
# strata.fish - completion for fish; strata --complete prints the candidates.

function __strata_complete
    set -l words (commandline -opc)
    set -l text (commandline -ct | string trim --left --chars "'\"")
    set -l found ($words[1] --complete=$words[-1] -- "$text" 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
        return
    end
    switch $words[-1]
        case -p --pid --unwind
            __fish_complete_pids
        case -c --cmd
            complete -C "command $text" | string match -v -- '-*'
        case -l -lv -vl --list -e --eval
        case '*'
            __fish_complete_path "$text"
    end
end

complete -c strata -f -a '(__strata_complete)'
