import { BowlineError } from '@bowline/runtime';
import { Option } from 'commander';

/** Kind is a kind of control plane. */
export type Kind = 'embedded' | 'kubernetes';

/** kindOption is `--kind`, which every control-plane command needs. */
export function kindOption(): Option {
  return new Option('--kind <kind>', 'kubernetes: the real components; embedded: does not exist yet')
    .choices(['embedded', 'kubernetes'] satisfies Kind[])
    .makeOptionMandatory();
}

/** requireKubernetes refuses the kind that does not exist yet. */
export function requireKubernetes(kind: Kind, command: string): void {
  if (kind === 'kubernetes') return;
  throw new BowlineError(
    'BOWLINE_CONTROL_PLANE_KIND',
    `the embedded control plane does not exist yet; use \`${command} --kind kubernetes\``,
  );
}
