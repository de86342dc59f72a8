module example/nilmap

go 1.19
