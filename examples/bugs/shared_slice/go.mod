module example/sharedslice

go 1.19
