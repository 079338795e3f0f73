module "toy"

go 1.21
