import { BowlineError } from '@bowline/runtime';
import { Command, Option } from 'commander';
import { type Settings, withConfigured } from '../config/settings.ts';
import { addSettings } from '../config/settings-options.ts';
import { DEFAULT_NAMESPACE } from '../install/names.ts';
import { installManifests, type Part } from '../manifests/install-manifests.ts';
import { printObjects } from '../manifests/print-objects.ts';
import { type OutputFormat, outputOption } from '../terminal/output-format.ts';
import type { CommandInput } from './command-input.ts';

interface ManifestsOptions {
  readonly image?: string;
  readonly perOperator: boolean;
  readonly part: Part | 'all';
  readonly output: OutputFormat;
}

/** manifestsCommand is `bowline manifests`. */
export async function manifestsCommand(input: CommandInput): Promise<Command> {
  const command = new Command('manifests')
    .description('Prints what runs operators in a cluster, for kubectl apply.')
    .option('--image <image>', 'the image of the Deployment; its entry point is bowline')
    .option('--per-operator', 'one Deployment and one account for each operator, instead of one for all', false)
    .addOption(
      new Option('--part <part>', 'what an administrator applies, what needs rights in the namespaces only, or all')
        .choices(['admin', 'operator', 'all'])
        .default('all'),
    )
    .addOption(outputOption('yaml'))
    .addHelpText(
      'after',
      `
The settings, from --config and flags, become the configuration of the install. Metrics are secure unless --metrics-secure=false
or --namespaces says otherwise. With --namespaces there are no rights in the whole cluster, except by name on the webhook configuration.

Examples:
  bowline manifests --operators configmap-sync --image registry.example.com/bowline:1.0 | kubectl apply --server-side -f -
  bowline manifests --operators configmap-sync --image registry.example.com/bowline:1.0 --namespaces team-a,team-b --part admin`,
    );
  const settingsOf = await addSettings(command, input);
  return command.action(async (options: ManifestsOptions, parsed: Command) => {
    const settings = await withConfigured(securedMetrics(settingsOf(parsed)));
    const manifests = installManifests({
      settings,
      namespace: settings.manager.namespace ?? DEFAULT_NAMESPACE,
      image: imageOf(options),
      perOperator: options.perOperator,
    });
    const chosen = manifests.filter(({ part }) => options.part === 'all' || part === options.part);
    input.io.out(
      printObjects(
        chosen.map(({ object }) => object),
        options.output,
      ),
    );
  });
}

function imageOf({ image, part }: ManifestsOptions): string {
  if (image !== undefined && image !== '') return image;
  // No Deployment is printed then.
  if (part === 'admin') return '';
  throw new BowlineError(
    'BOWLINE_IMAGE_MISSING',
    'bowline manifests needs the image that the Deployment runs: give --image, or print what needs none with --part admin or `bowline crds`',
  );
}

/** In a cluster anybody could read metrics that are not secure. The rights to ask are cluster-wide, so a limited install has none. */
function securedMetrics(settings: Settings): Settings {
  const { manager, given } = settings;
  const metrics = given.metrics as { readonly secure?: boolean } | undefined;
  if (metrics?.secure !== undefined || manager.namespaces !== undefined) return settings;
  return {
    ...settings,
    manager: { ...manager, metrics: { ...manager.metrics, secure: true } },
    given: { ...given, metrics: { ...metrics, secure: true } },
  };
}
