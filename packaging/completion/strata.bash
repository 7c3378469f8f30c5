# SPDX-License-Identifier: Apache-2.0
# strata.bash - what TAB offers after strata, in bash; strata itself says what (--complete).

_strata()
{
    local line=${COMP_LINE:0:COMP_POINT} quote= text before previous
    # The word as typed: bash cuts it at colons, unless it is quoted.
    text=${line##*[[:space:]]}
    case $line in
    *\'*) [[ ${line//[^\']/} =~ ^(\'\')*$ ]] || { quote=\' text=${line##*\'}; } ;;
    esac
    case $line in
    *\"*) [[ -z $quote && ! ${line//[^\"]/} =~ ^(\"\")*$ ]] && { quote=\" text=${line##*\"}; } ;;
    esac
    before=${line%"$quote$text"}
    before=${before%"${before##*[![:space:]]}"}
    previous=${before##*[[:space:]]}

    COMPREPLY=()
    case $previous in
    -p | --pid | --unwind)
        COMPREPLY=($(compgen -W "$(cd /proc && echo [0-9]*)" -- "$text"))
        return ;;
    -c | --cmd)
        COMPREPLY=($(compgen -c -- "$text"))
        return ;;
    esac
    local IFS=$'\n'
    COMPREPLY=($("$1" --complete="$previous" -- "$text" 2>/dev/null | cut -f 1))
    if [[ ${#COMPREPLY[@]} = 0 ]]; then
        case $previous in
        -l | -lv | -vl | --list | -e | --eval) ;;
        *) compopt -o filenames 2>/dev/null
            COMPREPLY=($(compgen -f -- "$text")) ;;
        esac
        return
    fi
    # The word goes on: after a colon, a directory's slash, within quotes.
    if [[ -n $quote || ${#COMPREPLY[@]} = 1 && ${COMPREPLY[0]} = *[:/] ]]; then
        compopt -o nospace 2>/dev/null
    fi
    if [[ -z $quote && $text = *:* && $COMP_WORDBREAKS = *:* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"${text%"${text##*:}"}"}")
    fi
}

complete -F _strata strata
