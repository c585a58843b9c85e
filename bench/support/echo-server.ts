/** An MCP server with one tool that answers immediately, and as many more as its first argument says. */
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const extra = Number(process.argv[2] ?? 0);
const words = ['read', 'write', 'list', 'delete', 'find', 'merge', 'send', 'plot'];

serveStdio(() => {
  const server = new McpServer({ name: 'echo', version: '1.0.0' });
  server.registerTool(
    'echo',
    { description: 'Says it again', inputSchema: z.object({ message: z.string() }) },
    async ({ message }) => ({ content: [{ type: 'text', text: message }] }),
  );
  for (let i = 0; i < extra; i++) {
    const verb = words[i % words.length];
    server.registerTool(
      `${verb}_thing_${i}`,
      {
        description: `Can ${verb} the thing with number ${i}, with filters, paging and an output format of your choice.`,
        inputSchema: z.object({
          id: z.string(),
          filter: z.string().optional(),
          limit: z.number().optional(),
        }),
      },
      async () => ({ content: [] }),
    );
  }
  return server;
});
