" Policies of sbx(5).
if exists("b:current_syntax")
	finish
endif
let s:keep = &cpo
set cpo&vim

syntax iskeyword @,48-57,-,_
syntax match sbxComment "#.*$" contains=@Spell
syntax region sbxText start=+"+ skip=+\\.+ end=+"+ oneline contains=sbxName
syntax match sbxName "\${[A-Za-z0-9_-]*}"
syntax match sbxPath "\~\ze\/"
syntax match sbxGroup "@[A-Za-z0-9_-]\+"
syntax match sbxNumber "\<[0-9]\+\(ms\|s\|m\|h\|B\|KiB\|MiB\|GiB\|TiB\)\?\>"
syntax keyword sbxStatement sbx include let param group profile extends use about
syntax keyword sbxStatement drop require on set from with limit watch stage
syntax keyword sbxAllow allow
syntax keyword sbxDeny deny prefer
syntax keyword sbxWord except glob read write exec network connect listen tcp host
syntax keyword sbxWord publish proxy unix domain private loopback full signal
syntax keyword sbxWord abstract anywhere spawn everything syscalls env socket
syntax keyword sbxWord unconfined git level landlock none
syntax keyword sbxLimit timeout output file-size processes open-files memory
syntax keyword sbxLimit cpu-time core stack
syntax keyword sbxPlatform linux macos x86_64 aarch64 standard minimal

highlight default link sbxComment Comment
highlight default link sbxText String
highlight default link sbxName Identifier
highlight default link sbxPath Identifier
highlight default link sbxGroup Identifier
highlight default link sbxNumber Number
highlight default link sbxStatement Statement
highlight default link sbxAllow Type
highlight default link sbxDeny Exception
highlight default link sbxWord Keyword
highlight default link sbxLimit Constant
highlight default link sbxPlatform Constant

let b:current_syntax = "sbx"
let &cpo = s:keep
unlet s:keep
