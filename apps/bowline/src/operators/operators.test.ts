import { expect, it } from 'vitest';
import { operators } from './operators.ts';
import { loadCommands } from './registry.ts';

it.each(Object.entries(operators))('the commands of %s that are loaded alone are its own', async (name, registered) => {
  const { commands } = await registered.load();
  for (const command of Object.keys(registered.commands ?? {})) {
    const alone = await loadCommands(name, registered, command);
    expect(alone).toEqual({ name, commands: commands.filter((each) => each.name === command) });
    expect(alone.commands).toHaveLength(1);
  }
  expect((await loadCommands(name, registered, 'other')).commands).toEqual(commands);
});
