# fish completion for sbxc(1) and sbxrun(1), which are asked what they know.

function __sbx_options
    $argv --help 2>/dev/null | sed -n 's/^ \{2,\}\(-[a-zA-Z], \)\{0,1\}\(--[a-z-]*\)=\{0,1\}[^ ]* *\(.*\)/\2\t\3/p'
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

complete -c sbxc -n 'test -z "$(__sbxc_command)"' -a '(__sbxc_commands)'
complete -c sbxc -n 'string match -q -- "-*" (commandline -ct)' -f -a '(__sbx_options sbxc (__sbxc_command))'
complete -c sbxc -n 'string match -q explain -- (__sbxc_command)' -f -a 'all (__sbxc_codes)'
complete -c sbxc -n 'string match -q init -- (__sbxc_command)' -f -a 'claude codex gemini opencode mcp vscode git npm'
complete -c sbxc -n 'string match -q -- "@*" (commandline -ct)' -f -a '(__sbx_profiles)'
complete -c sbxrun -n '__sbxrun_before_command; and string match -q -- "-*" (commandline -ct)' -f -a '(__sbx_options sbxrun)'
complete -c sbxrun -n '__sbxrun_before_command' -a '(__sbx_profiles)'
complete -c sbxrun -n 'not __sbxrun_before_command' -a '(__fish_complete_command)'
