# SPDX-License-Identifier: Apache-2.0
"""Functions that lxml's parser, XPath and XSLT call."""
from lxml import etree


class Target:
    def __init__(self):
        self.depth = self.most = 0

    def start(self, tag, attributes):
        self.depth += 1
        self.most = max(self.most, self.depth, *(len(v) for v in attributes.values()))

    def end(self, tag):
        self.depth -= 1

    def data(self, text):
        self.most = max(self.most, len(text.strip()))

    def close(self):
        return self.most


def longest(context, nodes):
    return max((len(n.text or '') for n in nodes), default=0)


namespace = etree.FunctionNamespace('urn:own')
namespace['longest'] = longest
document = '<list>' + ''.join(f'<item a="{n}"><name>{"x" * (n % 40)}</name></item>' for n in range(200)) + '</list>'
style = etree.XSLT(etree.XML(
    '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" xmlns:own="urn:own">'
    '<xsl:template match="/list"><out><xsl:for-each select="item"><n><xsl:value-of select="own:longest(name)"/></n>'
    '</xsl:for-each></out></xsl:template></xsl:stylesheet>'))
while True:
    etree.fromstring(document, etree.XMLParser(target=Target()))
    tree = etree.fromstring(document)
    style(tree)
    for node in tree.xpath('item[own:longest(name) > 20]', namespaces={'own': 'urn:own'}):
        etree.tostring(node)
