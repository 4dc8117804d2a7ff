import { Command, Option } from 'commander';
import { bowlineVersion, supportedKubernetes } from '../bowline-version.ts';

/** versionCommand is `bowline version`. */
export function versionCommand(): Command {
  return new Command('version')
    .description('Shows the versions of Bowline and Node, and the Kubernetes versions it supports.')
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['text', 'json']).default('text'))
    .addHelpText('after', '\nExample:\n  bowline version -o json')
    .action(({ output }: { output: 'text' | 'json' }) => {
      const versions = { version: bowlineVersion, node: process.versions.node, kubernetes: supportedKubernetes };
      if (output === 'json') {
        console.log(JSON.stringify(versions));
        return;
      }
      console.log(`bowline ${versions.version}`);
      console.log(`node ${versions.node}`);
      console.log(`kubernetes ${supportedKubernetes.oldest} and later, tested with ${supportedKubernetes.tested}`);
    });
}
