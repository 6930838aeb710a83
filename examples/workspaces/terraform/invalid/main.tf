output "one" {
  value = var.none
}
