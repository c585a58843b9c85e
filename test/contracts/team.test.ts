import { createMemoryStore } from '../memory/store.ts';
import { createMemoryTeam } from '../memory/team.ts';
import { teamContract } from './team-contract.ts';

teamContract('in memory', async () => {
  const team = createMemoryTeam(createMemoryStore());
  return {
    async join() {
      const member = team.join();
      return { ...member, leave: async () => member.leave() };
    },
    dispose: async () => {},
  };
});
