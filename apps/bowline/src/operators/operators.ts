import type { Registry } from './registry.ts';

/**
 * operators holds all operators that this program can run. Each is loaded when it is selected, so that users do not
 * load the code of the others.
 */
export const operators: Registry = {
  'configmap-sync': {
    summary: 'ConfigMapSync: keeps copies of ConfigMaps in other namespaces',
    load: async () => (await import('@bowline/configmap-sync')).configMapSync,
  },
  'hsm-secrets': {
    summary: 'HSM secrets: finds HSM devices, groups them into pools and delivers their secrets',
    kubectlPlugin: 'hsm',
    load: async () => (await import('@bowline/hsm-secrets')).hsmSecrets,
    commands: {
      agent: async () => (await import('@bowline/hsm-secrets/node-commands')).nodeCommands.agent,
      discovery: async () => (await import('@bowline/hsm-secrets/node-commands')).nodeCommands.discovery,
    },
    programs: { 'agent-worker': async () => (await import('@bowline/hsm-secrets/agent-worker')).runWorker },
  },
  'ignition-sync': {
    summary: 'Ignition Sync: syncs Git repositories to Ignition gateways',
    load: async () => (await import('@bowline/ignition-sync')).ignitionSync,
    commands: { agent: async () => (await import('@bowline/ignition-sync/agent-command')).agentCommand },
  },
  jasm: {
    summary: 'JASM: syncs secrets from external stores into Secrets, as requested by pods',
    load: async () => (await import('@bowline/jasm')).jasm,
  },
  ztwim: {
    summary: 'ZTWIM: runs SPIRE from one central configuration',
    load: async () => (await import('@bowline/ztwim')).ztwim,
  },
};
