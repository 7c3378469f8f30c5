# SPDX-License-Identifier: Apache-2.0
# strata.bash - completion for bash; strata --complete prints the candidates.

_strata()
{
    local line=${COMP_LINE:0:COMP_POINT} quote= text before previous
    # The whole word: bash cuts words at colons, unless they are quoted.
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
    # The word continues after a colon, after a directory's slash, and within quotes.
    if [[ -n $quote || ${#COMPREPLY[@]} = 1 && ${COMPREPLY[0]} = *[:/] ]]; then
        compopt -o nospace 2>/dev/null
    fi
    if [[ -z $quote && $text = *:* && $COMP_WORDBREAKS = *:* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"${text%"${text##*:}"}"}")
    fi
}

complete -F _strata strata
