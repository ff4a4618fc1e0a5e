std = 'luajit'
read_globals = { 'vim', 'bit' }
globals = { 'vim.g', 'vim.bo', 'vim.wo', 'vim.env' }
max_line_length = 110
self = false
