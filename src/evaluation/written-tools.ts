import type { ToolId } from '../core/vocabulary/ids.ts';
import type { ToolDefinition } from '../core/vocabulary/tool-definition.ts';

/** A small office: for each job that recurs there is a tool, and others that do the opposite or something near it. */
const DESCRIPTIONS: Readonly<Record<string, readonly [description: string, ...parameters: string[]]>> = {
  'invoices:send_invoice': ['Send an invoice for a month to a customer by e-mail', 'customer', 'month'],
  'invoices:void_invoice': ['Void an invoice that was already issued, so that it need not be paid', 'number'],
  'invoices:list_invoices': [
    'List invoices by customer, month and whether they were paid',
    'customer',
    'month',
  ],
  'invoices:refund_payment': ['Pay money back to a customer who has paid an invoice', 'number', 'amount'],
  'invoices:send_reminder': ['Remind a customer of an invoice that is overdue', 'number'],
  'reports:write_report': ['Write the report of what the team did in a week', 'week', 'team'],
  'reports:delete_report': ['Delete a report for good', 'report_id'],
  'reports:share_report': ['Give other people access to a report that is there', 'report_id', 'people'],
  'reports:read_report': ['Read the text of a report', 'report_id'],
  'rooms:book_room': ['Book a meeting room for a time', 'room', 'start', 'end'],
  'rooms:cancel_booking': ['Cancel the booking of a meeting room', 'booking_id'],
  'rooms:list_free_rooms': ['List meeting rooms that are free at a time', 'start', 'end', 'seats'],
  'rooms:move_booking': ['Move the booking of a meeting room to another time', 'booking_id', 'start'],
  'tickets:add_ticket': ['Add a ticket to the issue tracker', 'title', 'body', 'project'],
  'tickets:close_ticket': ['Close a ticket as done or as not to be done', 'ticket_id', 'reason'],
  'tickets:delete_ticket': ['Delete a ticket and its comments from the issue tracker', 'ticket_id'],
  'tickets:assign_ticket': ['Make somebody responsible for a ticket', 'ticket_id', 'person'],
  'database:back_up': ['Write a backup of a database into the storage', 'database'],
  'database:restore_backup': ['Overwrite a database with what is in a backup', 'database', 'backup_id'],
  'database:delete_backup': ['Delete a backup of a database from the storage', 'backup_id'],
  'database:drop_database': ['Drop a whole database with all of its tables', 'database'],
  'deploy:deploy_service': [
    'Deploy a version of a service to staging or production',
    'service',
    'stage',
    'version',
  ],
  'deploy:roll_back': ['Roll a service back to the version before', 'service', 'stage'],
  'deploy:stop_service': ['Stop a running service on staging or production', 'service', 'stage'],
  'deploy:service_status': [
    'Tell which version of a service runs where, and whether it is healthy',
    'service',
  ],
  'mail:send_message': ['Send an e-mail with a subject and a text', 'to', 'subject', 'text'],
};

export const WRITTEN_TOOLS: readonly ToolDefinition[] = Object.entries(DESCRIPTIONS).map(
  ([id, [description, ...parameters]]) => {
    const [server, name] = id.split(':') as [string, string];
    const properties = Object.fromEntries(parameters.map((parameter) => [parameter, { type: 'string' }]));
    return {
      id: id as ToolId,
      server,
      name,
      description,
      inputSchema: { type: 'object', properties },
      definitionHash: id,
    };
  },
);
