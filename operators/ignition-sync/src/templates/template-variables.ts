/** TemplateVariables holds the values of the variables of templates. An undefined one has no value. */
export interface TemplateVariables {
  readonly gatewayName?: string | undefined;
  readonly podName?: string | undefined;
  readonly namespace?: string | undefined;
  /** spec.siteNumber of the IgnitionSync. */
  readonly siteNumber?: string | undefined;
  readonly ref?: string | undefined;
  readonly commit?: string | undefined;
  /** spec.vars of the SyncProfile. Defaults to none. */
  readonly vars?: Readonly<Record<string, string>> | undefined;
  /** The labels of the pod. Defaults to none. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** VARIABLE_NAME is the pattern of the names of variables in spec.vars of a SyncProfile. */
export const VARIABLE_NAME = '^[a-zA-Z_][a-zA-Z0-9_]*$';

/** VariableValue is the value of a variable, or why it has none and how to fix that. */
export type VariableValue = { readonly value: string } | { readonly problem: string };

const ORDINAL = /-([0-9]+)$/;

const NAMES = 'GatewayName, PodName, PodOrdinal, Namespace, SiteNumber, Ref, Commit, Vars.NAME and Labels.NAME';

const UNKNOWN_HERE = 'its value is not known here; remove the variable';

/** variableValue returns the value of a variable by its name, without the dot in front: `Labels.app`. */
export function variableValue(name: string, variables: TemplateVariables): VariableValue {
  const { vars = {}, labels = {} } = variables;
  if (name.startsWith('Vars.')) {
    return entryOf(vars, name.slice('Vars.'.length), 'spec.vars of the SyncProfile has no such variable; add it');
  }
  if (name.startsWith('Labels.')) {
    return entryOf(labels, name.slice('Labels.'.length), 'the pod has no such label; add it');
  }
  switch (name) {
    case 'GatewayName':
      return valueOr(variables.gatewayName, UNKNOWN_HERE);
    case 'PodName':
      return valueOr(variables.podName, UNKNOWN_HERE);
    case 'PodOrdinal':
      return valueOr(
        ORDINAL.exec(variables.podName ?? '')?.[1],
        'the name of the pod has no ordinal; use a StatefulSet',
      );
    case 'Namespace':
      return valueOr(variables.namespace, UNKNOWN_HERE);
    case 'SiteNumber':
      return valueOr(variables.siteNumber, 'spec.siteNumber of the IgnitionSync is not set; set it');
    case 'Ref':
      return valueOr(variables.ref, UNKNOWN_HERE);
    case 'Commit':
      return valueOr(variables.commit, UNKNOWN_HERE);
    default:
      return { problem: `the variable is unknown; use one of ${NAMES}` };
  }
}

function entryOf(entries: Readonly<Record<string, string>>, key: string, problem: string): VariableValue {
  return valueOr(Object.hasOwn(entries, key) ? entries[key] : undefined, problem);
}

function valueOr(value: string | undefined, problem: string): VariableValue {
  return value === undefined ? { problem } : { value };
}
