import type { StructuralSchema } from '@bowline/machinery/schema';
import type { Operator } from '@bowline/runtime';
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

/** configurationPage is docs/reference/configuration.md: every setting, from the schemas that check it. */
export function configurationPage(operators: readonly Operator[]): string {
  const own = Object.entries(settingFlags).map(([name, path]) => flagAt(name, managerConfig.json, path.split('.')));
  const sections = operators.flatMap(({ name, config }) => {
    if (!config || !('json' in config)) return [];
    return [`### \`${name}\`\n\n${table(config.json, [name], flagsOf(config.json, [name]))}`];
  });
  return `${[INTRO, `## Settings\n\n${table(managerConfig.json, [], own)}`, OPERATORS, ...sections].join('\n\n')}\n`;
}

function table(schema: StructuralSchema, prefix: readonly string[], flags: readonly Flag[]): string {
  return ['| setting | flag | default | meaning |', '| --- | --- | --- | --- |', ...rows(schema, prefix, flags)].join(
    '\n',
  );
}

function rows(schema: StructuralSchema, prefix: readonly string[], flags: readonly Flag[]): readonly string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = [...prefix, name];
    if (field.properties) return rows(field, path, flags);
    const flag = flags.find((each) => each.path.join('.') === path.join('.'));
    const cells = [
      `\`${path.join('.')}\``,
      flag ? `\`--${flag.name}\`` : '',
      field.default === undefined ? '' : `\`${shownDefault(field.default)}\``,
      meaning(field),
    ];
    return [`| ${cells.join(' | ')} |`];
  });
}

function shownDefault(value: unknown): string {
  const text = JSON.stringify(value);
  // Without the quotes an empty text would not be seen.
  return value === '' ? text : text.replaceAll('"', '');
}

function meaning({ description = '', enum: choices, minimum, maximum }: StructuralSchema): string {
  const bounds = minimum === undefined || maximum === undefined ? [] : [`${minimum} to ${maximum}.`];
  const named = choices?.map((choice) => `\`${String(choice)}\``).join(', ');
  return [description, ...(named === undefined ? [] : [`One of ${named}.`]), ...bounds]
    .join(' ')
    .replaceAll('|', '\\|');
}
