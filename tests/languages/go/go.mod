module story

go 1.21
