import type { Command } from '@bowline/runtime/manager';
import { agentCommand } from './agent/agent-command.ts';
import { DevicePlugins } from './device-plugin/device-plugins.ts';
import { discoveryCommand } from './discovery/discovery-command.ts';

/**
 * nodeCommands run in the pods that the operator creates: on every node, and for every device. They are loaded without
 * the operator, so that they need little memory.
 */
export const nodeCommands: Readonly<Record<'agent' | 'discovery', Command>> = {
  agent: agentCommand,
  discovery: discoveryCommand({
    consumer: ({ namespace, device, log }) => new DevicePlugins({ owner: `${namespace}/${device}`, log }),
  }),
};
