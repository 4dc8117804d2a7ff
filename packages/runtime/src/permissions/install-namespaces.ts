/** Namespaces and names of objects contain no parentheses or spaces. */
const PLACEHOLDER = /^\(namespace (.+)\)$/;

/**
 * installNamespaceName returns the placeholder for a namespace of the operator's install, whose name follows from the
 * configuration.
 */
export function installNamespaceName(id: string): string {
  return `(namespace ${id})`;
}

/** installNamespaceId returns the id that a placeholder stands for; undefined for the name of a namespace. */
export function installNamespaceId(namespace: string): string | undefined {
  return PLACEHOLDER.exec(namespace)?.[1];
}
