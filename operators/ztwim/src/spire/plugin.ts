/** plugin returns the configuration of a plugin, in the form that HCL's block syntax has in JSON. */
export function plugin(name: string, data: object): readonly object[] {
  return [{ [name]: { plugin_data: data } }];
}
