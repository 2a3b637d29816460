autocmd BufRead,BufNewFile *.sbx setfiletype sbx
