import { validate } from '@bowline/machinery/schema';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type InstallFields, installFields } from './install-config.ts';
import { mergeInstall } from './merge-install.ts';

/**
 * InstallFlag is a flag of `bowline manifests` that sets a field of an install. Flags may be repeated, except those of
 * single values.
 */
interface InstallFlag {
  readonly name: string;
  /** The argument of the flag, as shown in the help. */
  readonly argument: string;
  readonly summary: string;
  /** The field of the section `install` that the flag sets. */
  readonly field: string;
  /** read returns the fields that the text sets; undefined if it does not have the form of `argument`. */
  readonly read: (text: string) => InstallFields | undefined;
}

/** pair splits `a=b` at the first separator. */
function pair(text: string, separator = '='): readonly [string, string] | undefined {
  const at = text.indexOf(separator);
  return at < 1 ? undefined : [text.slice(0, at), text.slice(at + 1)];
}

/** entry parses `key=value` into a map. */
function entry(
  text: string,
  into: (map: Readonly<Record<string, string>>) => InstallFields,
): InstallFields | undefined {
  const found = pair(text);
  return found && into({ [found[0]]: found[1] });
}

/** keyFrom parses `NAME=object/key` into an environment variable. */
function keyFrom(text: string, source: 'secretKeyRef' | 'configMapKeyRef'): InstallFields | undefined {
  const [variable, place] = pair(text) ?? [];
  const [name, key] = pair(place ?? '', '/') ?? [];
  if (variable === undefined || name === undefined || key === undefined) return undefined;
  return { env: [{ name: variable, valueFrom: { [source]: { name, key } } }] };
}

/** mount parses `name=/path` into a volume, named after its source, and its mount. */
function mount(text: string, kind: 'secret' | 'configMap'): InstallFields | undefined {
  const [object, mountPath] = pair(text) ?? [];
  if (object === undefined || mountPath === undefined) return undefined;
  const name = `${kind.toLowerCase()}-${object}`.replaceAll('.', '-').slice(0, 63).replace(/-+$/, '');
  const volume = kind === 'secret' ? { name, secret: { secretName: object } } : { name, configMap: { name: object } };
  return { volumes: [volume], volumeMounts: [{ name, mountPath, readOnly: true }] };
}

/** toleration parses a taint in kubectl's syntax: `key=value:effect`, `key:effect`, `key`. */
function toleration(text: string): InstallFields | undefined {
  const found = /^([^=:]+)(?:=([^:]*))?(?::(.+))?$/.exec(text);
  if (!found) return undefined;
  const [, key = '', value, effect] = found;
  // The schema checks that the effect exists.
  const given = effect === undefined ? {} : { effect: effect as 'NoSchedule' };
  return {
    tolerations: [
      value === undefined ? { key, operator: 'Exists', ...given } : { key, operator: 'Equal', value, ...given },
    ],
  };
}

/**
 * installFlags holds the flags of the fields that fit on a command line. Affinities, other volumes and similar fields
 * need the file.
 */
export const installFlags: readonly InstallFlag[] = [
  {
    name: 'image',
    argument: '<image>',
    summary: 'image of the Deployment; its entry point must be bowline',
    field: 'image',
    read: (image) => ({ image }),
  },
  {
    name: 'image-pull-policy',
    argument: '<policy>',
    summary: 'when to pull the image: Always, IfNotPresent or Never',
    field: 'imagePullPolicy',
    // The schema checks that the policy exists.
    read: (text) => ({ imagePullPolicy: text as 'Always' }),
  },
  {
    name: 'image-pull-secret',
    argument: '<name>',
    summary: 'a Secret with registry credentials',
    field: 'imagePullSecrets',
    read: (name) => ({ imagePullSecrets: [{ name }] }),
  },
  {
    name: 'replicas',
    argument: '<number>',
    summary: 'number of pods (default: 2, or 1 without leader election)',
    field: 'replicas',
    read: (text) => (/^\d+$/.test(text) ? { replicas: Number(text) } : undefined),
  },
  {
    name: 'service-account-annotation',
    argument: '<key=value>',
    summary: 'an annotation of the ServiceAccount',
    field: 'serviceAccount.annotations',
    read: (text) => entry(text, (annotations) => ({ serviceAccount: { annotations } })),
  },
  {
    name: 'pod-label',
    argument: '<key=value>',
    summary: 'a label of the pods',
    field: 'podLabels',
    read: (text) => entry(text, (podLabels) => ({ podLabels })),
  },
  {
    name: 'pod-annotation',
    argument: '<key=value>',
    summary: 'an annotation of the pods',
    field: 'podAnnotations',
    read: (text) => entry(text, (podAnnotations) => ({ podAnnotations })),
  },
  {
    name: 'env',
    argument: '<NAME=value>',
    summary: 'an environment variable',
    field: 'env',
    read: (text) => {
      const [name, value] = pair(text) ?? [];
      return name === undefined || value === undefined ? undefined : { env: [{ name, value }] };
    },
  },
  {
    name: 'env-from-secret',
    argument: '<NAME=secret/key>',
    summary: 'an environment variable from a key of a Secret',
    field: 'env',
    read: (text) => keyFrom(text, 'secretKeyRef'),
  },
  {
    name: 'env-from-config-map',
    argument: '<NAME=configmap/key>',
    summary: 'an environment variable from a key of a ConfigMap',
    field: 'env',
    read: (text) => keyFrom(text, 'configMapKeyRef'),
  },
  {
    name: 'env-from-field',
    argument: '<NAME=field>',
    summary: 'an environment variable from a field of the pod, such as spec.nodeName',
    field: 'env',
    read: (text) => {
      const [name, fieldPath] = pair(text) ?? [];
      return name === undefined || !fieldPath ? undefined : { env: [{ name, valueFrom: { fieldRef: { fieldPath } } }] };
    },
  },
  {
    name: 'mount-secret',
    argument: '<secret=/path>',
    summary: 'mount the keys of a Secret as files in a folder',
    field: 'volumeMounts',
    read: (text) => mount(text, 'secret'),
  },
  {
    name: 'mount-config-map',
    argument: '<configmap=/path>',
    summary: 'mount the keys of a ConfigMap as files in a folder',
    field: 'volumeMounts',
    read: (text) => mount(text, 'configMap'),
  },
  {
    name: 'request',
    argument: '<resource=amount>',
    summary: 'a resource request of the container, such as cpu=100m',
    field: 'resources.requests',
    read: (text) => entry(text, (requests) => ({ resources: { requests } })),
  },
  {
    name: 'limit',
    argument: '<resource=amount>',
    summary: 'a resource limit of the container, such as memory=1Gi',
    field: 'resources.limits',
    read: (text) => entry(text, (limits) => ({ resources: { limits } })),
  },
  {
    name: 'node-selector',
    argument: '<key=value>',
    summary: 'a label of the nodes that the pods may run on',
    field: 'nodeSelector',
    read: (text) => entry(text, (nodeSelector) => ({ nodeSelector })),
  },
  {
    name: 'toleration',
    argument: '<key[=value][:effect]>',
    summary: 'a taint that the pods tolerate',
    field: 'tolerations',
    read: toleration,
  },
  {
    name: 'priority-class',
    argument: '<name>',
    summary: 'PriorityClass of the pods',
    field: 'priorityClassName',
    read: (priorityClassName) => ({ priorityClassName }),
  },
];

/**
 * addInstallFlags adds the flags of an install to a command. It returns a function that returns what they set once the
 * command line is parsed.
 */
export function addInstallFlags(command: Command): () => InstallFields {
  let given: InstallFields = {};
  for (const flag of installFlags) {
    const option = new Option(`--${flag.name} ${flag.argument}`, flag.summary).helpGroup('Install:');
    command.addOption(
      option.argParser((text: string) => {
        given = mergeInstall(given, readFlag(flag, text));
        return text;
      }),
    );
  }
  return () => given;
}

function readFlag({ argument, read }: InstallFlag, text: string): InstallFields {
  const fields = read(text);
  if (fields === undefined) throw new InvalidArgumentError(`Expected ${argument.slice(1, -1)}.`);
  const [problem] = validate(fields, installFields.json, { path: 'install' });
  if (problem) throw new InvalidArgumentError(`${problem.field}: ${problem.message}.`);
  return fields;
}
