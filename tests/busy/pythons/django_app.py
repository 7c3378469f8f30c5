# SPDX-License-Identifier: Apache-2.0
"""A site with one page and a database in memory, under repeated requests."""
import django
from django.conf import settings

settings.configure(DEBUG=False, ALLOWED_HOSTS=['*'], ROOT_URLCONF=__name__, SECRET_KEY='none', USE_TZ=True,
                   DATABASES={'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': ':memory:'}},
                   TEMPLATES=[{'BACKEND': 'django.template.backends.django.DjangoTemplates'}])
django.setup()

from django.db import connection, models  # noqa: E402
from django.http import HttpResponse  # noqa: E402
from django.template import engines  # noqa: E402
from django.test import Client  # noqa: E402
from django.urls import path  # noqa: E402


class Book(models.Model):
    title = models.CharField(max_length=50)
    pages = models.IntegerField()

    class Meta:
        app_label = 'books'


PAGE = engines['django'].from_string(
    '{% for b in books %}{% if b.pages > 20 %}<li>{{ b.title|upper|slice:":9" }} {{ b.pages|add:1 }}</li>{% endif %}{% endfor %}')


def page(request):
    return HttpResponse(PAGE.render({'books': Book.objects.filter(pages__gt=5).order_by('-pages')}, request))


urlpatterns = [path('', page)]

with connection.schema_editor() as editor:
    editor.create_model(Book)
Book.objects.bulk_create(Book(title=f'book {n}', pages=n) for n in range(60))
client = Client()
while True:
    assert client.get('/').status_code == 200
