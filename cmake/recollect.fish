# SPDX-License-Identifier: Apache-2.0
# Completion for fish: subcommands, their flags, and the names of layers, tasks and claims.
function __recollect_names
    recollect list $argv[1] --json 2>/dev/null | string match -rg '^    "(?:name|id)": "([^"]*)"'
end
function __recollect_flags
    set -l words (commandline -opc)
    recollect $words[2] --help | string match -rag -- '--([a-z][a-z-]*)' | string replace -r '^' -- '--'
end
complete -c recollect -n __fish_use_subcommand -f -a "(recollect --help | string match -rg '^  ([a-z]+) +[^ ].*')"
complete -c recollect -n 'not __fish_use_subcommand; and string match -q -- "-*" (commandline -ct)' -f -a '(__recollect_flags)'
complete -c recollect -n '__fish_seen_subcommand_from list' -f -a 'variants tasks claims'
complete -c recollect -n '__fish_seen_subcommand_from forward check sample' -a '(__recollect_names variants)'
complete -c recollect -n '__fish_seen_subcommand_from verify' -a '(__recollect_names claims)'
complete -c recollect -n '__fish_seen_subcommand_from explain' -f -a '(__recollect_names claims; __recollect_names variants; __recollect_names tasks)'
