"""Texts whose vectors other implementations of the model are checked against."""

_STEPS = (
    "Fetch the invoices of the last quarter, keep those above 1,000 EUR, group them by customer, "
    "convert the totals to dollars and send the table to the finance channel. "
)

REFERENCE_TEXTS = (
    "",
    "a",
    "commit my changes",
    "read file",
    "git commit in git: Record changes to the repository (repo path, message)",
    "read text file in filesystem: Read the complete contents of a file as text. (path, head, tail)",
    "create entities in memory: Create multiple new entities in the knowledge graph (entities)",
    "what will the weather be like in Lisbon tomorrow?",
    "how long does it take to drive from Berlin to Munich",
    "remember that Ada works at Acme",
    "look up the documentation of React",
    "open a pull request that fixes issue #42 and ask Grace for a review",
    "browser take screenshot in playwright: Take a screenshot of the current page (type, filename, fullPage)",
    "query in postgres: Run a read-only SQL query (sql)",
    "SELECT name, COUNT(*) FROM users WHERE created_at > '2024-01-01' GROUP BY 1;",
    "camelCaseToolName and snake_case_tool_name and kebab-case-name",
    "https://example.com/path?query=1&other=two#part",
    "{\"key\": [1, 2.5, null], \"nested\": {\"a\": true}}",
    "Line one\nline two\r\n\tindented  with   blanks",
    "[CLS] [SEP] [MASK] [UNK] are written out",
    "word" * 30,
    "Naïve café, Ünïcode, Łódź, façade, Ångström, İstanbul",
    "Zeig mir die letzten Rechnungen und schicke sie an die Buchhaltung",
    "Envía un correo a Marta con el informe de ventas de ayer",
    "Trouve un vol de Paris à Montréal pour vendredi prochain",
    "покажи погоду в Москве на завтра",
    "شغّل الموسيقى في غرفة المعيشة",
    "कल के लिए एक अलार्म सेट करो",
    "使用必应搜索指定的关键词，并返回搜索结果列表",
    "東京タワーの近くのレストランを予約してください",
    "서울에서 부산까지 가는 기차를 찾아줘",
    "tìm khách sạn ở Đà Nẵng cho hai người",
    "emoji 🚀 👩‍💻 and symbols € £ ¥ ½ ™ → ∑ ≤",
    "soft\u00adhyphen, zero\u200bwidth, no-break\u00a0space and \ufffd",
    "0 1 22 333 4,444 55.555 6e7 0x1F 100% #1 @2",
    "!!! ??? ... --- ((( ))) ''' \"\"\" ``` ~~~",
    "the " * 200,
    _STEPS * 4,
    _STEPS * 20,
    "生成一份格式良好的报告，" * 60,
)
