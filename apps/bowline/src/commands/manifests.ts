import type { Deployment } from '@bowline/kubernetes';
import { BowlineError } from '@bowline/runtime';
import { Command, Option } from 'commander';
import { flagAt, optionOf } from '../config/flags.ts';
import { managerConfig } from '../config/manager-config.ts';
import { type Settings, withConfigured } from '../config/settings.ts';
import { addSettings } from '../config/settings-options.ts';
import { addInstallFlags } from '../install/install-flags.ts';
import { DEFAULT_NAMESPACE } from '../install/names.ts';
import { installManifests, type Manifest, type Part } from '../manifests/install-manifests.ts';
import { printObjects } from '../manifests/print-objects.ts';
import { type OutputFormat, outputOption } from '../terminal/output-format.ts';
import type { CommandInput } from './command-input.ts';

interface ManifestsOptions {
  readonly perOperator?: boolean;
  readonly dependencies: boolean;
  readonly part: Part | 'all';
  readonly output: OutputFormat;
}

/** manifestsCommand returns the command `bowline manifests`. */
export async function manifestsCommand(input: CommandInput): Promise<Command> {
  const command = new Command('manifests')
    .description('Prints the manifests that run operators in a cluster, for kubectl apply.')
    .addOption(optionOf(flagAt('per-operator', managerConfig.json, ['install', 'perOperator'])))
    .addOption(
      new Option(
        '--part <part>',
        'admin: objects that an administrator must apply; operator: objects that only need permissions in the namespaces',
      )
        .choices(['admin', 'operator', 'all'])
        .default('all'),
    )
    .option(
      '--dependencies',
      'also print the CustomResourceDefinitions of other projects that the operators use; only for a cluster without them',
      false,
    )
    .addOption(outputOption('yaml'))
    .addHelpText(
      'after',
      `
The settings of --config and the flags become the configuration of the install. Metrics are secure, except with
--metrics-secure=false or --namespaces. The section \`install\` of the file supports the settings of the flags under "Install"
and more. With --namespaces there are no cluster-wide permissions, except on the webhook configuration, by name.

Examples:
  bowline manifests --operators configmap-sync --image registry.example.com/bowline:1.0 | kubectl apply --server-side -f -
  bowline manifests --operators configmap-sync --image registry.example.com/bowline:1.0 --namespaces team-a,team-b --part admin`,
    );
  const installFlags = addInstallFlags(command);
  const settingsOf = await addSettings(command, input);
  return command.action(async (options: ManifestsOptions, parsed: Command) => {
    const settings = await withConfigured(securedMetrics(settingsOf(parsed)));
    const section = settings.manager.install;
    const manifests = installManifests({
      settings,
      namespace: settings.manager.namespace ?? DEFAULT_NAMESPACE,
      install: { section, flags: installFlags() },
      perOperator: options.perOperator ?? section?.perOperator,
      dependencies: options.dependencies,
    });
    // The administrator's part has no Deployment.
    if (options.part !== 'admin') requireImages(manifests);
    const chosen = manifests.filter(({ part }) => options.part === 'all' || part === options.part);
    input.io.out(
      printObjects(
        chosen.map(({ object }) => object),
        options.output,
      ),
    );
  });
}

function requireImages(manifests: readonly Manifest[]): void {
  const deployments = manifests.map(({ object }) => object as Deployment).filter(({ kind }) => kind === 'Deployment');
  const lacking = deployments.find(({ spec }) => !spec?.template.spec?.containers[0]?.image);
  if (!lacking) return;
  throw new BowlineError(
    'BOWLINE_IMAGE_MISSING',
    `bowline manifests needs an image for the Deployment ${lacking.metadata?.name}: set --image or the setting install.image, or print only objects that need no image with --part admin or \`bowline crds\``,
  );
}

/**
 * Without security any client in the cluster could read the metrics. The rights to check access are cluster-wide, so an
 * install that is limited to namespaces has none.
 */
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
