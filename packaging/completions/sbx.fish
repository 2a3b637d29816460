# fish completion for sbxc(1) and sbxrun(1), which are asked what they know.

# Which help has all options.
function __sbx_help
    test "$argv[1]" = sbxrun; and echo -- --help=all; or echo -- --help
end

function __sbx_options
    $argv (__sbx_help $argv[1]) 2>/dev/null | sed -n 's/^ \{2,\}\(-[a-zA-Z], \)\{0,1\}\(--[a-z-]*\)=\{0,1\}[^ ]* *\(.*\)/\2\t\3/p'
end

function __sbx_profiles
    sbxc profiles 2>/dev/null | sed -n 's/^\([a-z][a-z-]*\)  *\(.*\)/@\1\t\2/p'
end

function __sbxc_commands
    sbxc --help 2>/dev/null | sed -n 's/^  \([a-z]\{1,\}\)  *\(.*\)/\1\t\2/p'
end

function __sbxc_codes
    sbxc explain all 2>/dev/null | sed -n 's/^\(SBX[0-9]*\): \(.*\) (.*/\1\t\2/p'
end

function __sbxc_command
    set -l words (commandline -opc)
    test (count $words) -gt 1; and echo $words[2]
end

function __sbxrun_before_command
    not contains -- -- (commandline -opc)
end

# What an option takes: see sbx.bash.
function __sbx_takes
    $argv[2..] (__sbx_help $argv[2]) 2>/dev/null | awk -v want=$argv[1] '
    {
        sub(/^ +/, "")
        at = index($0, "  ")
        head = substr($0, 1, at - 1)
        split(head, name, /, |=/)
        if (want != name[1] && want != name[2] || head !~ /=/)
            next
        does = substr($0, at)
        sub(/^ +/, "", does)
        value = head
        sub(/^[^=]*=/, "", value)
        if (value ~ /^\[.*\]$/)
            print "["
        gsub(/[][]|no-/, "", value)
        if (value ~ /^[A-Z]/) {
            print value
            value = does
            sub(/[:;].*/, "", value)
            gsub(/ or |, /, "|", value)
        }
        count = split(value, word, "|")
        for (i = 1; i <= count; i++) {
            sub(/=[A-Z]*$/, "=", word[i])
            if (word[i] ~ /^[a-z][a-z0-9_-]*=?$/)
                print word[i]
        }
    }'
end

# The sessions or stages that are there, for an option.
function __sbx_names
    set -l list --sessions
    string match -q -- "--stage*" $argv[1]; and set list --staged
    string match -qr -- "^--s[et]" $argv[1]; or return
    sbxrun $list --json 2>/dev/null | grep -o '"name": *"[^"]*"' | sed 's/.*"\(.*\)"/\1/'
end

# The values of the option in this word, or before it.
function __sbx_values
    set -l words (commandline -opc)
    set -l token (commandline -ct)
    set -l option $words[-1]
    set -l prefix ""
    if string match -q -- "--*=*" $token
        set option (string replace -r "=.*" "" -- $token)
        set prefix $option=
    else if not string match -q -- "-*" $option
        return
    end
    set -l takes (__sbx_takes $option $argv)
    # What may be left out stands in the same word.
    test -z "$prefix" -a "$takes[1]" = "["; and return
    for word in $takes
        switch $word
            case NAME
                test "$option" = --session; and echo $prefix""auto
                for name in (__sbx_names $option)
                    echo $prefix$name
                end
            case NAME=VALUE
                printf "$prefix%s\n" file-size= processes= open-files= cpu-time= memory= core= stack= timeout= output=
            case CODE
                printf "$prefix%s\n" all (__sbxc_codes)
            case PROFILE
                printf "$prefix%s\n" none (__sbx_profiles | string replace @ "")
            case "*"
                string match -qr "^[a-z]" -- $word; and echo $prefix$word
        end
    end
end

# Without a command it is build.
function __sbxc_asked
    set -l command (__sbxc_command)
    string match -qr "^[-@/.]" -- $command; and set command build
    test -n "$command"; and echo $command; or echo build
end

function __sbx_at_option
    string match -q -- "-*" (commandline -ct)
    and not string match -q -- "*=*" (commandline -ct)
end

function __sbxrun_staged
    set -l words (commandline -opc)
    test (count $words) -gt 1; and string match -q -- "--staged*" $words[2]
end

function __sbxrun_operand
    __sbxrun_before_command
    and not __sbxrun_staged
    and not string match -q -- "-*" (commandline -ct)
    and test -z "$(__sbx_values sbxrun)"
end

complete -c sbxc -n 'test -z "$(__sbxc_command)"' -a '(__sbxc_commands)'
complete -c sbxc -n __sbx_at_option -f -a '(__sbx_options sbxc (__sbxc_asked))'
complete -c sbxc -n 'test -n "$(__sbx_values sbxc (__sbxc_asked))"' -f -a '(__sbx_values sbxc (__sbxc_asked))'
complete -c sbxc -n 'string match -q explain -- (__sbxc_command)' -f -a 'all (__sbxc_codes)'
complete -c sbxc -n 'string match -q allow -- (__sbxc_command)' -a 'read write exec domain connect listen env'
complete -c sbxc -n 'string match -q why -- (__sbxc_command)' -a 'read write exec domain connect listen syscall env'
complete -c sbxc -n 'string match -q log -- (__sbxc_command)' -a 'show verify'
complete -c sbxc -n 'string match -q init -- (__sbxc_command)' -f -a 'claude codex gemini opencode mcp vscode git npm'
complete -c sbxc -n 'string match -q -- "@*" (commandline -ct)' -f -a '(__sbx_profiles)'
complete -c sbxrun -n '__sbxrun_before_command; and __sbx_at_option' -f -a '(__sbx_options sbxrun)'
complete -c sbxrun -n '__sbxrun_before_command; and test -n "$(__sbx_values sbxrun)"' -f -a '(__sbx_values sbxrun)'
complete -c sbxrun -n __sbxrun_operand -a '(__sbx_profiles)'
complete -c sbxrun -n __sbxrun_staged -a 'list diff apply discard'
# Or a command, under the policy that is taken by default.
complete -c sbxrun -n __sbxrun_operand -a '(__fish_complete_command)'
complete -c sbxrun -n 'not __sbxrun_before_command' -a '(__fish_complete_command)'
