import type { StructuralSchema } from '@bowline/machinery/schema';
import type { Operator } from '@bowline/runtime';
import { installFlags } from '../install/install-flags.ts';
import { type Flag, flagAt, flagsOf } from './flags.ts';
import { managerConfig, settingFlags } from './manager-config.ts';

const INTRO = `<!-- Generated from the schemas of the settings by \`npx vitest run --project node apps/bowline/src/config -u\`: do not edit. -->
# Configuration

\`bowline run\` and \`bowline manifests\` read their settings from a file, from flags, or from both. A flag takes precedence over the same setting in the file.

\`\`\`yaml
# bowline.yaml
operators: [configmap-sync]
logging:
  level: info
metrics:
  secure: true
configmap-sync:
  maxWritesInFlight: 16
\`\`\`

\`\`\`sh
bowline run --config bowline.yaml --log-level debug
\`\`\`

An unknown or invalid setting is rejected before anything is done; the message contains its line and the expected value (exit code 2).
The file contains one YAML document of at most 1 MiB. In flags, the items of a list are separated by commas, and \`--flag\` means
\`--flag=true\`. Durations have the form \`90s\`, \`5m\` or \`1h30m\`.`;

const OPERATORS = `## Operators

Each operator has a section with its name, and flags. Sections of operators that are not selected are ignored. A flag that two selected
operators share is rejected: set it in the file.`;

const INSTALL = `## Install

The section \`install\` configures the Deployment, its pods and its ServiceAccount that \`bowline manifests\` prints. Fields have the same names and
structure as in the spec of a pod. A running manager ignores the section, so that \`run\` and \`manifests\` can use the same file; in a
pod, operators get the image for Pods of their own.

\`\`\`yaml
# bowline.yaml
operators: [configmap-sync]
install:
  image: registry.example.com/bowline:0.1.0
  replicas: 3
  env:
    - name: HTTPS_PROXY
      valueFrom: { secretKeyRef: { name: proxy, key: url } }
  resources:
    limits: { memory: 1Gi }
  operators:
    configmap-sync:
      podLabels: { team: platform }
\`\`\`

The fields in \`install.operators.<name>\` apply to the Deployment that runs that operator. If one Deployment runs several operators, their fields are
merged, and rejected if they conflict (\`BOWLINE_INSTALL_INVALID\`). Precedence, lowest first: the fields for all operators, the fields of an operator, the
flags. Maps are merged by key, \`env\`, \`volumes\` and \`imagePullSecrets\` by name, and \`volumeMounts\` by path: an item replaces the item with the same
name or path. Other lists are concatenated. Flags for maps and lists can be repeated.

The volume \`config\`, the folder \`/etc/bowline\`, the labels that select the pods and the fields required by the pod security standard \`restricted\` cannot
be set. A \`hostPath\` needs a namespace that does not enforce that standard.`;

/** placedInstallFlags returns the flags of an install with the settings that they set. */
function placedInstallFlags(): readonly PlacedFlag[] {
  const flags = installFlags.map(({ name, field }) => ({ name, path: ['install', ...field.split('.')] }));
  return [...flags, { name: 'per-operator', path: ['install', 'perOperator'] }];
}

/** PlacedFlag is a flag with the setting that it sets. */
type PlacedFlag = Pick<Flag, 'name' | 'path'>;

/** configurationPage returns docs/reference/configuration.md: every setting, from the schemas that validate it. */
export function configurationPage(operators: readonly Operator[]): string {
  const own = Object.entries(settingFlags).map(([name, path]) => flagAt(name, managerConfig.json, path.split('.')));
  const sections = operators.flatMap(({ name, config }) => {
    if (!config || !('json' in config)) return [];
    return [`### \`${name}\`\n\n${table(config.json, [name], flagsOf(config.json, [name]))}`];
  });
  const { install = {}, ...settings } = managerConfig.json.properties ?? {};
  const parts = [
    INTRO,
    `## Settings\n\n${table({ properties: settings }, [], own)}`,
    `${INSTALL}\n\n${table(install, ['install'], placedInstallFlags())}`,
    OPERATORS,
    ...sections,
  ];
  return `${parts.join('\n\n')}\n`;
}

function table(schema: StructuralSchema, prefix: readonly string[], flags: readonly PlacedFlag[]): string {
  return ['| setting | flag | default | meaning |', '| --- | --- | --- | --- |', ...rows(schema, prefix, flags)].join(
    '\n',
  );
}

function rows(schema: StructuralSchema, prefix: readonly string[], flags: readonly PlacedFlag[]): readonly string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = [...prefix, name];
    // An atomic field has the shape that Kubernetes documents, so its fields are not listed.
    if (field.properties && field['x-kubernetes-map-type'] !== 'atomic') return rows(field, path, flags);
    const named = flags.filter((each) => each.path.join('.') === path.join('.'));
    const cells = [
      `\`${path.join('.')}\``,
      named.map(({ name: flag }) => `\`--${flag}\``).join(', '),
      field.default === undefined ? '' : `\`${formatDefault(field.default)}\``,
      describeField(field),
    ];
    return [`| ${cells.join(' | ')} |`];
  });
}

function formatDefault(value: unknown): string {
  const text = JSON.stringify(value);
  // Without the quotes an empty string would not be visible.
  return value === '' ? text : text.replaceAll('"', '');
}

function describeField({ description = '', enum: choices, minimum, maximum }: StructuralSchema): string {
  const bounds = minimum === undefined || maximum === undefined ? [] : [`${minimum} to ${maximum}.`];
  const named = choices?.map((choice) => `\`${String(choice)}\``).join(', ');
  return [description, ...(named === undefined ? [] : [`One of ${named}.`]), ...bounds]
    .join(' ')
    .replaceAll('|', '\\|');
}
