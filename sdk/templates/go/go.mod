module mycloud

go 1.19
