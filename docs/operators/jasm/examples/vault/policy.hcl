path "secret/data/shop/*" {
  capabilities = ["read"]
}

# The version before the value. Without it every look reads the value.
path "secret/metadata/shop/*" {
  capabilities = ["read"]
}
