/** TemplateVariables are the values that templates may use. A value that is undefined does not exist. */
export interface TemplateVariables {
  readonly gatewayName?: string | undefined;
  readonly podName?: string | undefined;
  readonly podOrdinal?: string | undefined;
  readonly namespace?: string | undefined;
  readonly siteNumber?: string | undefined;
  readonly ref?: string | undefined;
  readonly commit?: string | undefined;
  readonly vars?: Readonly<Record<string, string>> | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** UnknownVariableError reports a variable that does not exist, and where it is used. */
export class UnknownVariableError extends Error {
  override readonly name = 'UnknownVariableError';
  readonly variable: string;
  readonly line: number;

  constructor(variable: string, line: number) {
    super(`line ${line} uses the unknown variable ${variable}`);
    this.variable = variable;
    this.line = line;
  }
}

/** Only a complete `{{ .Name }}`: braces of JSON and of scripts stay as they are. Labels have dots and slashes. */
const VARIABLE = /\{\{[ \t]*(\.[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_./-]+)?)[ \t]*\}\}/g;

const SINGLE = {
  '.GatewayName': 'gatewayName',
  '.PodName': 'podName',
  '.PodOrdinal': 'podOrdinal',
  '.Namespace': 'namespace',
  '.SiteNumber': 'siteNumber',
  '.Ref': 'ref',
  '.Commit': 'commit',
} as const;

/** renderText replaces the variables in a text, or throws `UnknownVariableError`. */
export function renderText(template: string, variables: TemplateVariables): string {
  return template.replace(VARIABLE, (_, name: string, offset: number) => {
    const value = variableValue(name, variables);
    if (value !== undefined) return value;
    throw new UnknownVariableError(name, template.slice(0, offset).split('\n').length);
  });
}

/** renderBytes replaces the variables in a file and leaves every other byte unchanged, also if it is not UTF-8. */
export function renderBytes(template: Buffer, variables: TemplateVariables): Buffer {
  // In latin1, each byte is one character.
  const encode = (value: string): string => Buffer.from(value).toString('latin1');
  const encodeAll = (values: Readonly<Record<string, string>> = {}): Record<string, string> =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, encode(value)]));
  const { vars, labels, ...single } = variables;
  const encoded = { ...encodeAll(definedOnly(single)), vars: encodeAll(vars), labels: encodeAll(labels) };
  return Buffer.from(renderText(template.toString('latin1'), encoded), 'latin1');
}

function definedOnly(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

function variableValue(name: string, variables: TemplateVariables): string | undefined {
  if (Object.hasOwn(SINGLE, name)) return variables[SINGLE[name as keyof typeof SINGLE]];
  const [, group, key = ''] = /^\.(Vars|Labels)\.(.+)$/.exec(name) ?? [];
  if (group === undefined) return undefined;
  const values = (group === 'Vars' ? variables.vars : variables.labels) ?? {};
  return Object.hasOwn(values, key) ? values[key] : undefined;
}
