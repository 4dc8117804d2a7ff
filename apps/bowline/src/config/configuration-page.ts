import type { StructuralSchema } from '@bowline/machinery/schema';
import type { Operator } from '@bowline/runtime';
import { installFlags } from '../install/install-flags.ts';
import { type Flag, flagAt, flagsOf } from './flags.ts';
import { managerConfig, settingFlags } from './manager-config.ts';

const INTRO = `<!-- Made from the schemas of the settings: \`npx vitest run --project node apps/bowline/src/config -u\` writes it anew. -->
# Configuration

\`bowline run\` and \`bowline manifests\` take their settings from a file, flags, or both. Flags win, setting by setting.

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

A setting that does not exist, or does not fit, is refused before anything is done, with its line and what would be right (exit code 2).
The file has one YAML document of at most 1 MiB. Lists are given to a flag with commas between their items; \`--flag\` alone is
\`--flag=true\`. Durations are written as \`90s\`, \`5m\` or \`1h30m\`.`;

const OPERATORS = `## Operators

Each operator has a section under its name, and flags for it. Sections of operators that are not selected are left alone. A flag that two
selected operators have is refused: give that setting in the file.`;

const INSTALL = `## Install

The section \`install\` says what \`bowline manifests\` prints of the Deployment, its pods and its ServiceAccount. Fields have the names and the shape
that they have in a pod's spec. A running manager accepts the section and makes no use of it: one file serves \`run\` and \`manifests\`.

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

What is under \`install.operators.<name>\` is for the Deployment that runs that operator. With one Deployment for all, fields of several operators are
put together, and refused where they contradict each other (\`BOWLINE_INSTALL_INVALID\`). The order is: the fields for all, those of the operators, the flags; later
ones win. Maps are merged by key; \`env\`, \`volumes\` and \`imagePullSecrets\` by name and \`volumeMounts\` by path, where an item replaces the one of the same
name; other lists are joined. Flags for maps and lists can be repeated.

The volume \`config\`, the folder \`/etc/bowline\`, the labels that select the pods and what the pod security standard \`restricted\` asks for are not to be
set. A \`hostPath\` needs a namespace that does not enforce that standard.`;

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
      field.default === undefined ? '' : `\`${shownDefault(field.default)}\``,
      meaning(field),
    ];
    return [`| ${cells.join(' | ')} |`];
  });
}

function shownDefault(value: unknown): string {
  const text = JSON.stringify(value);
  // Without the quotes an empty string would not be visible.
  return value === '' ? text : text.replaceAll('"', '');
}

function meaning({ description = '', enum: choices, minimum, maximum }: StructuralSchema): string {
  const bounds = minimum === undefined || maximum === undefined ? [] : [`${minimum} to ${maximum}.`];
  const named = choices?.map((choice) => `\`${String(choice)}\``).join(', ');
  return [description, ...(named === undefined ? [] : [`One of ${named}.`]), ...bounds]
    .join(' ')
    .replaceAll('|', '\\|');
}
