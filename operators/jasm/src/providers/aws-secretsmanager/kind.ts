import type { ProviderKind } from '../provider.ts';
import type { AwsConfig } from './config.ts';
import { PATH_FORMAT, secretId } from './secret-id.ts';

/** awsSecretsManager reads secrets of AWS Secrets Manager. */
export const awsSecretsManager: ProviderKind<AwsConfig> = {
  name: 'aws-secretsmanager',
  pathFormat: PATH_FORMAT,
  names: (path, config) => [secretId(path, config)],
  // Only a session can be tagged, and only an assumed role has a session of ours.
  dependsOnNamespace: ({ role }, config) => config.sessionTags && (role ?? config.role) !== undefined,
  load: async (context) => {
    const { AwsSecretsManager } = await import('./aws-secretsmanager.ts');
    return new AwsSecretsManager(context);
  },
};
