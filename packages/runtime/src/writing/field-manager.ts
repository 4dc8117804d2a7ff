/**
 * fieldManagerOf is the name under which a controller owns fields: `bowline-<operator>-<controller>`. It stands in stored
 * objects, so changing either name is a breaking change. Both names together fit into the API's 128 characters.
 */
export function fieldManagerOf(operator: string, controller: string): string {
  return `bowline-${operator}-${controller}`;
}

/** MANAGED_BY is the label that says which tool looks after an object. */
export const MANAGED_BY = 'app.kubernetes.io/managed-by';
