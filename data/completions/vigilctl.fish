# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_vigilctl_global_optspecs
    string join \n h/help V/version
end

function __fish_vigilctl_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_vigilctl_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_vigilctl_using_subcommand
    set -l cmd (__fish_vigilctl_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c vigilctl -n "__fish_vigilctl_needs_command" -s h -l help -d 'Print help'
complete -c vigilctl -n "__fish_vigilctl_needs_command" -s V -l version -d 'Print version'
complete -c vigilctl -n "__fish_vigilctl_needs_command" -f -a "hook" -d 'Deliver an agent\'s event; what agents\' hooks call'
complete -c vigilctl -n "__fish_vigilctl_needs_command" -f -a "set-status" -d 'Set the status of a row'
complete -c vigilctl -n "__fish_vigilctl_needs_command" -f -a "clear-status" -d 'Remove a row'
complete -c vigilctl -n "__fish_vigilctl_needs_command" -f -a "set-progress" -d 'Show how far a workspace\'s work is: from 0 to 1, below 0 to clear'
complete -c vigilctl -n "__fish_vigilctl_needs_command" -f -a "append-log" -d 'Show a log line under a workspace'
complete -c vigilctl -n "__fish_vigilctl_needs_command" -f -a "notify" -d 'Send a notification'
complete -c vigilctl -n "__fish_vigilctl_needs_command" -f -a "status" -d 'Print what the sidebar shows'
complete -c vigilctl -n "__fish_vigilctl_needs_command" -f -a "watch" -d 'Print what the sidebar shows, then each change as it comes'
complete -c vigilctl -n "__fish_vigilctl_needs_command" -f -a "install" -d 'Put Vigil\'s hooks into an agent\'s settings'
complete -c vigilctl -n "__fish_vigilctl_needs_command" -f -a "uninstall" -d 'Take Vigil\'s hooks out of an agent\'s settings'
complete -c vigilctl -n "__fish_vigilctl_needs_command" -f -a "doctor" -d 'Say how far Vigil is put into the agents, and what is to be done'
complete -c vigilctl -n "__fish_vigilctl_needs_command" -f -a "replay" -d 'Play a recorded sequence of events into the running application'
complete -c vigilctl -n "__fish_vigilctl_needs_command" -f -a "ack" -d 'Mark a row as seen'
complete -c vigilctl -n "__fish_vigilctl_needs_command" -f -a "dismiss" -d 'Remove a row'
complete -c vigilctl -n "__fish_vigilctl_needs_command" -f -a "jump" -d 'Go to the terminal of a row'
complete -c vigilctl -n "__fish_vigilctl_needs_command" -f -a "ping" -d 'Answer'
complete -c vigilctl -n "__fish_vigilctl_using_subcommand hook" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c vigilctl -n "__fish_vigilctl_using_subcommand set-status" -l workspace -d 'The workspace: its id, or its path' -r
complete -c vigilctl -n "__fish_vigilctl_using_subcommand set-status" -l socket -d 'Ignored: Séance\'s own socket' -r
complete -c vigilctl -n "__fish_vigilctl_using_subcommand set-status" -l surface -d 'Ignored: these commands are about workspaces' -r
complete -c vigilctl -n "__fish_vigilctl_using_subcommand set-status" -l priority -d 'Where the row stands among its neighbours, highest first' -r
complete -c vigilctl -n "__fish_vigilctl_using_subcommand set-status" -l display-name -d 'What to call the row' -r
complete -c vigilctl -n "__fish_vigilctl_using_subcommand set-status" -l message -d 'What the row says' -r
complete -c vigilctl -n "__fish_vigilctl_using_subcommand set-status" -l agent -d 'The row is an agent\'s'
complete -c vigilctl -n "__fish_vigilctl_using_subcommand set-status" -s h -l help -d 'Print help'
complete -c vigilctl -n "__fish_vigilctl_using_subcommand clear-status" -l workspace -d 'The workspace: its id, or its path' -r
complete -c vigilctl -n "__fish_vigilctl_using_subcommand clear-status" -l socket -d 'Ignored: Séance\'s own socket' -r
complete -c vigilctl -n "__fish_vigilctl_using_subcommand clear-status" -l surface -d 'Ignored: these commands are about workspaces' -r
complete -c vigilctl -n "__fish_vigilctl_using_subcommand clear-status" -s h -l help -d 'Print help'
complete -c vigilctl -n "__fish_vigilctl_using_subcommand set-progress" -l workspace -d 'The workspace: its id, or its path' -r
complete -c vigilctl -n "__fish_vigilctl_using_subcommand set-progress" -l socket -d 'Ignored: Séance\'s own socket' -r
complete -c vigilctl -n "__fish_vigilctl_using_subcommand set-progress" -l surface -d 'Ignored: these commands are about workspaces' -r
complete -c vigilctl -n "__fish_vigilctl_using_subcommand set-progress" -s h -l help -d 'Print help'
complete -c vigilctl -n "__fish_vigilctl_using_subcommand append-log" -l workspace -d 'The workspace: its id, or its path' -r
complete -c vigilctl -n "__fish_vigilctl_using_subcommand append-log" -l socket -d 'Ignored: Séance\'s own socket' -r
complete -c vigilctl -n "__fish_vigilctl_using_subcommand append-log" -l surface -d 'Ignored: these commands are about workspaces' -r
complete -c vigilctl -n "__fish_vigilctl_using_subcommand append-log" -l level -d 'How much it matters: info, warning or error' -r
complete -c vigilctl -n "__fish_vigilctl_using_subcommand append-log" -s h -l help -d 'Print help'
complete -c vigilctl -n "__fish_vigilctl_using_subcommand notify" -l workspace -d 'The workspace: its id, or its path' -r
complete -c vigilctl -n "__fish_vigilctl_using_subcommand notify" -l socket -d 'Ignored: Séance\'s own socket' -r
complete -c vigilctl -n "__fish_vigilctl_using_subcommand notify" -l surface -d 'Ignored: these commands are about workspaces' -r
complete -c vigilctl -n "__fish_vigilctl_using_subcommand notify" -s h -l help -d 'Print help'
complete -c vigilctl -n "__fish_vigilctl_using_subcommand status" -l format -d 'How to print it' -r -f -a "plain\t'Aligned text'"
complete -c vigilctl -n "__fish_vigilctl_using_subcommand status" -l json -d 'Print the snapshot as JSON'
complete -c vigilctl -n "__fish_vigilctl_using_subcommand status" -l details -d 'With what the agents\' tools work on'
complete -c vigilctl -n "__fish_vigilctl_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c vigilctl -n "__fish_vigilctl_using_subcommand watch" -l json -d 'Print the snapshot, then each change, as one line of JSON'
complete -c vigilctl -n "__fish_vigilctl_using_subcommand watch" -s h -l help -d 'Print help'
complete -c vigilctl -n "__fish_vigilctl_using_subcommand install" -l program -d 'The vigilctl that the hooks run; without it the one that is called, if it will last' -r -F
complete -c vigilctl -n "__fish_vigilctl_using_subcommand install" -l dry-run -d 'Print what would change, and change nothing'
complete -c vigilctl -n "__fish_vigilctl_using_subcommand install" -l trust -d 'Tell an agent that asks for it (Codex) that you trust the hooks; on a terminal you are asked'
complete -c vigilctl -n "__fish_vigilctl_using_subcommand install" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c vigilctl -n "__fish_vigilctl_using_subcommand uninstall" -l dry-run -d 'Print what would change, and change nothing'
complete -c vigilctl -n "__fish_vigilctl_using_subcommand uninstall" -s h -l help -d 'Print help'
complete -c vigilctl -n "__fish_vigilctl_using_subcommand doctor" -l json -d 'Print it as JSON'
complete -c vigilctl -n "__fish_vigilctl_using_subcommand doctor" -s h -l help -d 'Print help'
complete -c vigilctl -n "__fish_vigilctl_using_subcommand replay" -l speed -d 'How many times faster than it was recorded' -r
complete -c vigilctl -n "__fish_vigilctl_using_subcommand replay" -l agent -d 'The agent of lines that name none' -r
complete -c vigilctl -n "__fish_vigilctl_using_subcommand replay" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c vigilctl -n "__fish_vigilctl_using_subcommand ack" -s h -l help -d 'Print help'
complete -c vigilctl -n "__fish_vigilctl_using_subcommand dismiss" -s h -l help -d 'Print help'
complete -c vigilctl -n "__fish_vigilctl_using_subcommand jump" -l next -d 'The row that wants you most'
complete -c vigilctl -n "__fish_vigilctl_using_subcommand jump" -s h -l help -d 'Print help'
complete -c vigilctl -n "__fish_vigilctl_using_subcommand ping" -s h -l help -d 'Print help'
