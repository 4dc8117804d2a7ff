import { Option } from 'commander';

/** Kind is a kind of control plane. */
export type Kind = 'embedded' | 'kubernetes';

/** kindOption is `--kind`, which every command that starts a control plane needs. */
export function kindOption(): Option {
  return new Option('--kind <kind>', 'embedded: an API server in this process; kubernetes: the real components')
    .choices(['embedded', 'kubernetes'] satisfies Kind[])
    .makeOptionMandatory();
}
