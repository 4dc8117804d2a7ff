import type { ProviderKind } from '../provider.ts';
import type { AwsConfig } from './config.ts';
import { PATH_FORMAT, secretId } from './secret-id.ts';

/** awsSecretsManager is AWS Secrets Manager. */
export const awsSecretsManager: ProviderKind<AwsConfig> = {
  name: 'aws-secretsmanager',
  pathFormat: PATH_FORMAT,
  names: (path, config) => [secretId(path, config)],
  // Only a session can be tagged, and only a role has one that is ours.
  dependsOnNamespace: ({ role }, config) => config.sessionTags && (role ?? config.role) !== undefined,
  load: async (context) => {
    const { AwsSecretsManager } = await import('./aws-secretsmanager.ts');
    return new AwsSecretsManager(context);
  },
};
