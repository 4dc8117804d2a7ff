/** A use of a variable, or an escaped "$". */
const REFERENCE = /\$\$|\$\(([^)]*)\)/g;

/** expandVariables replaces `$(NAME)` in a text as a kubelet does: unknown variables stay, and `$$` is a "$". */
export function expandVariables(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replace(REFERENCE, (use, name: string | undefined) =>
    name === undefined ? '$' : Object.hasOwn(variables, name) ? (variables[name] ?? use) : use,
  );
}
